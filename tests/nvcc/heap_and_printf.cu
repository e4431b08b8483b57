// printf, assert, malloc, new, memcpy, alloca, trap, clocks and the profiler.

#include <cassert>
#include <cstdio>
#include <cstring>
#include <new>

struct Node {
    Node* next;
    int value;
    __device__ Node(Node* n, int v) : next(n), value(v) {}
    __device__ ~Node() { printf("gone %d\n", value); }
};

__global__ void print(int a, double b, const char* text) {
    printf("plain\n");
    printf("int %d, unsigned %u, hex %08x, long %lld, char %c, 100%%\n", a, unsigned(a), a, (long long)a * a, char(a));
    printf("%f %g %e %s %p\t\"quoted\\\"\n", b, float(b), b * 2, text, &a);
    int n = printf("\x01\x7f\xe2\x82\xac %*d\n", 5, a);
    if (n < 0) printf("%d", n);
}

__global__ void asserted(const int* p, int n) {
    assert(n > 0 && "a length");
    assert(p != nullptr);
    for (int i = 0; i < n; i++) assert(p[i] != 42);
    static_assert(sizeof(int) == 4);
}

__global__ void heap(int n, int* out) {
    Node* list = nullptr;
    for (int i = 0; i < n; i++) list = new Node(list, i);
    int* raw = static_cast<int*>(malloc(n * sizeof(int)));
    if (raw) {
        memset(raw, 0x5a, n * sizeof(int));
        memcpy(out, raw, n * sizeof(int));
        free(raw);
    }
    int* array = new int[n + 1]();
    out[0] = array[n];
    delete[] array;
    alignas(16) unsigned char place[sizeof(Node)];
    Node* inside = new (place) Node(list, 3);
    out[1] = inside->next ? inside->next->value : inside->value;
    inside->~Node();
    while (list) {
        Node* next = list->next;
        delete list;
        list = next;
    }
}

__global__ void stack(int n, char* out) {
    char* p = static_cast<char*>(alloca(n));
    for (int i = 0; i < n; i++) p[i] = char(i * 3);
    for (int i = 0; i < n; i++) out[i] = p[n - 1 - i];
    char fixed[40];
    memcpy(fixed, out, 40);
    out[n] = fixed[n % 40];
}

__global__ void machine(long long* out, int n) {
    out[0] = clock64() + clock();
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    out[1] = time;
    __nanosleep(100);
    if (n == 1) __trap();
    if (n == 2) __brkpt();
    if (n == 3) asm volatile("exit;");
    __prof_trigger(3);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    out[2] = __syncthreads_count(n) + __syncthreads_and(n) + __syncthreads_or(n);
}
