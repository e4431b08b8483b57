// A debug build of Tensor Memory: what cuda::ptx loads is stored at once, by functions of their own.
// nvcc: -G
// targets: sm_100a

#include "tcgen05.cu"
