include_ptx!(kernel);
