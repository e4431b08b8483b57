let k = ptx!(<sm_90, ptx 8.0> |n| { ret; });
