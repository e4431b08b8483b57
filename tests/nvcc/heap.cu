// malloc, free, new and delete: right and wrong uses.

struct Node {
    Node* next;
    int value;
    __device__ Node(Node* n, int v) : next(n), value(v) {}
};

// Each thread makes a list, which its neighbour sums and deletes.
extern "C" __global__ void lists(int n, int* out) {
    __shared__ Node* heads[64];
    Node* list = nullptr;
    for (int i = 0; i < n; i++) list = new Node(list, i + threadIdx.x);
    heads[threadIdx.x] = list;
    __syncthreads();
    int sum = 0;
    Node* other = heads[threadIdx.x ^ 1];
    while (other) {
        Node* next = other->next;
        sum += other->value;
        delete other;
        other = next;
    }
    int* again = static_cast<int*>(malloc(n * sizeof(int)));
    for (int i = 0; i < n; i++) again[i] = sum;
    out[blockIdx.x * blockDim.x + threadIdx.x] = again[n - 1];
    free(again);
}

extern "C" __global__ void overrun(int* out) {
    int* p = static_cast<int*>(malloc(16));
    int* q = static_cast<int*>(malloc(16));
    p[threadIdx.x + 3] = 1;
    out[0] = p[0] + q[0];
}

extern "C" __global__ void twice() {
    void* p = malloc(16);
    free(p);
    free(p);
}

extern "C" __global__ void after(int* out) {
    int* p = static_cast<int*>(malloc(16));
    p[0] = 1;
    free(p);
    out[0] = p[0];
}

extern "C" __global__ void large(long long n, int* out) { out[threadIdx.x] = malloc(n) != nullptr; }
