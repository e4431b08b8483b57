/* The PROGRAM of `cargo xtask bench --opencl PROGRAM`: for every line on standard input it runs a kernel of kernels.cl once on
 * the first CPU device, and writes its CPU time in nanoseconds. Results are compared with C after every round. `--serve NAME`
 * names the kernel; the exit status is 3 for an unknown kernel, 4 without a device.
 *
 * The device works in the host's memory, like the host machine of ptx-dsl: nothing is copied. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MANY = 1 << 24, SIDE = 512, POINTS = 1024, CTAS = 64, ROUNDS = 500, UNKNOWN = 3, NO_DEVICE = 4 };

static void fail(const char *what, int code) {
    fprintf(stderr, "opencl: %s (%d)\n", what, code);
    exit(1);
}

static void check(const char *what, cl_int code) {
    if (code != CL_SUCCESS) fail(what, code);
}

static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel;

static cl_device_id find_device(void) {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) count = 0;
    for (cl_uint i = 0; i < count && i < 16; i++) {
        cl_device_id device;
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (!strstr(name, "Portable Computing Language")) continue;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS) return device;
    }
    exit(NO_DEVICE);
}

static char *text(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) fail(path, 0);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *s = calloc(size + 1, 1);
    if (!s || fread(s, 1, size, f) != (size_t)size) fail(path, 1);
    fclose(f);
    return s;
}

static void start(const char *name) {
    cl_int code;
    cl_device_id device = find_device();
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check("context", code);
    queue = clCreateCommandQueue(context, device, 0, &code);
    check("queue", code);
    const char *source = text(KERNELS);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    check("program", code);
    code = clBuildProgram(program, 1, &device, "", NULL, NULL);
    if (code != CL_SUCCESS) {
        static char log[65536];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fail(log, code);
    }
    kernel = clCreateKernel(program, name, &code);
    check("kernel", code);
}

static void *memory(size_t bytes) {
    void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!p) fail("memory", 0);
    memset(p, 0, bytes);
    return p;
}

/* The memory, mapped for the host; `launch` gives it to the device for as long as it works. */
typedef struct {
    cl_mem object;
    void *at;
    size_t bytes;
} Buffer;

static Buffer buffer(size_t bytes) {
    cl_int code;
    Buffer b = {NULL, memory(bytes), bytes};
    b.object = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, b.at, &code);
    check("buffer", code);
    b.at = clEnqueueMapBuffer(queue, b.object, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    check("map", code);
    return b;
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t launch(cl_uint dimensions, const size_t *items, const size_t *group, Buffer *buffers, int count) {
    for (int i = 0; i < count; i++)
        check("unmap", clEnqueueUnmapMemObject(queue, buffers[i].object, buffers[i].at, 0, NULL, NULL));
    check("finish", clFinish(queue));
    uint64_t from = now();
    check("launch", clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, items, group, 0, NULL, NULL));
    check("finish", clFinish(queue));
    uint64_t taken = now() - from;
    for (int i = 0; i < count; i++) {
        cl_int code;
        buffers[i].at = clEnqueueMapBuffer(queue, buffers[i].object, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                           buffers[i].bytes, 0, NULL, NULL, &code);
        check("map", code);
    }
    return taken;
}

static void arguments(Buffer *buffers, int count) {
    for (int i = 0; i < count; i++) check("argument", clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i].object));
}

static uint32_t draw(void) {
    static uint64_t state = 7;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static void compare(const void *a, const void *b, size_t bytes) {
    if (memcmp(a, b, bytes) != 0) fail("the results differ from C", 0);
}

/* Waits for a line, writes the time of the round before it. */
static int asked(void) {
    int c;
    while ((c = getchar()) != EOF && c != '\n') {}
    return c != EOF;
}

static void answer(uint64_t nanoseconds) {
    printf("%llu\n", (unsigned long long)nanoseconds);
    fflush(stdout);
}

static void saxpy(void) {
    Buffer b[] = {buffer(MANY * 4), buffer(MANY * 4)};
    float *x = b[0].at, *y = b[1].at, *expected = memory(MANY * 4), a = 1;
    cl_uint n = MANY;
    for (int i = 0; i < MANY; i++) x[i] = i % 1024, y[i] = expected[i] = 1;
    arguments(b, 2);
    check("argument", clSetKernelArg(kernel, 2, sizeof a, &a));
    check("argument", clSetKernelArg(kernel, 3, sizeof n, &n));
    while (asked()) {
        uint64_t t = launch(1, (size_t[]){MANY}, (size_t[]){256}, b, 2);
        x = b[0].at, y = b[1].at;
        for (int i = 0; i < MANY; i++) expected[i] += a * x[i];
        compare(y, expected, MANY * 4);
        answer(t);
    }
}

static void reduce(void) {
    Buffer b[] = {buffer(MANY * 4), buffer(MANY / 1024 * 4)};
    float *x = b[0].at, *expected = memory(MANY / 1024 * 4);
    for (int i = 0; i < MANY; i++) x[i] = draw() % 1024, expected[i / 1024] += x[i];
    arguments(b, 2);
    while (asked()) {
        uint64_t t = launch(1, (size_t[]){MANY / 4}, (size_t[]){256}, b, 2);
        compare(b[1].at, expected, MANY / 1024 * 4);
        answer(t);
    }
}

static void matmul(void) {
    enum { SIZE = SIDE * SIDE };
    Buffer b[] = {buffer(SIZE * 4), buffer(SIZE * 4), buffer(SIZE * 4)};
    float *a = b[0].at, *m = b[1].at, *expected = memory(SIZE * 4);
    for (int i = 0; i < SIZE; i++) a[i] = (int)(draw() % 17) - 8, m[i] = (int)(draw() % 17) - 8;
    for (int y = 0; y < SIDE; y++)
        for (int k = 0; k < SIDE; k++)
            for (int x = 0; x < SIDE; x++) expected[y * SIDE + x] += a[y * SIDE + k] * m[k * SIDE + x];
    cl_uint n = SIDE;
    arguments(b, 3);
    check("argument", clSetKernelArg(kernel, 3, sizeof n, &n));
    while (asked()) {
        uint64_t t = launch(2, (size_t[]){SIDE, SIDE}, (size_t[]){16, 16}, b, 3);
        compare(b[2].at, expected, SIZE * 4);
        answer(t);
    }
}

static void histogram(void) {
    Buffer b[] = {buffer(MANY), buffer(256 * 4)};
    uint8_t *x = b[0].at;
    uint32_t expected[256] = {0};
    for (int i = 0; i < MANY; i++) x[i] = (uint8_t)(draw() & draw()), expected[x[i]]++;
    cl_uint words = MANY / 4;
    arguments(b, 2);
    check("argument", clSetKernelArg(kernel, 2, sizeof words, &words));
    while (asked()) {
        memset(b[1].at, 0, sizeof expected);
        uint64_t t = launch(1, (size_t[]){256 * 256}, (size_t[]){256}, b, 2);
        compare(b[1].at, expected, sizeof expected);
        answer(t);
    }
}

static void mandelbrot(void) {
    enum { SIZE = POINTS * POINTS };
    Buffer b[] = {buffer(SIZE * 4)};
    uint32_t *expected = memory(SIZE * 4);
    for (int i = 0; i < SIZE; i++) {
        float cx = (float)(i % POINTS) * (3.0f / 1024.0f) - 2.0f, cy = (float)(i / POINTS) * (3.0f / 1024.0f) - 1.5f;
        float x = 0, y = 0;
        uint32_t count = 0;
        while (count < 256) {
            float xx = x * x, yy = y * y;
            if (xx + yy > 4) break;
            y = x * y * 2 + cy;
            x = xx - yy + cx;
            count++;
        }
        expected[i] = count;
    }
    cl_uint n = POINTS;
    arguments(b, 1);
    check("argument", clSetKernelArg(kernel, 1, sizeof n, &n));
    while (asked()) {
        uint64_t t = launch(1, (size_t[]){SIZE}, (size_t[]){128}, b, 1);
        compare(b[0].at, expected, SIZE * 4);
        answer(t);
    }
}

static void barriers(void) {
    enum { SIZE = CTAS * 1024 };
    Buffer b[] = {buffer(SIZE * 4)};
    uint32_t *expected = memory(SIZE * 4);
    for (int i = 0; i < SIZE; i++) expected[i] = (i % 1024 + ROUNDS) % 1024 + i / 1024 + ROUNDS;
    cl_uint rounds = ROUNDS;
    arguments(b, 1);
    check("argument", clSetKernelArg(kernel, 1, sizeof rounds, &rounds));
    while (asked()) {
        uint64_t t = launch(1, (size_t[]){SIZE}, (size_t[]){1024}, b, 1);
        compare(b[0].at, expected, SIZE * 4);
        answer(t);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } kernels[] = {{"saxpy", saxpy},         {"reduce", reduce},         {"matmul", matmul},
                   {"histogram", histogram}, {"mandelbrot", mandelbrot}, {"barriers", barriers}};
    if (argc == 2 && strcmp(argv[1], "--device") == 0) {
        find_device();
        return 0;
    }
    if (argc != 3 || strcmp(argv[1], "--serve") != 0) {
        fprintf(stderr, "usage: opencl --serve NAME | --device\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (strcmp(kernels[i].name, argv[2]) == 0) {
            start(argv[2]);
            kernels[i].run();
            return 0;
        }
    }
    return UNKNOWN;
}
