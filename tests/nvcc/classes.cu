// Virtual functions, inheritance, members by pointer, static data, operators, lambdas kept in objects.

struct Shape {
    float scale;
    __device__ explicit Shape(float s) : scale(s) {}
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
    __device__ virtual ~Shape() {}
};
struct Named { const char* name; __device__ virtual char initial() const { return name[0]; } };
struct Square : Shape, Named {
    float side;
    __device__ Square(float s) : Shape(2), side(s) { name = "square"; }
    __device__ float area() const override { return side * side * scale; }
    __device__ int corners() const override { return 4; }
    __device__ char initial() const override { return 'S'; }
};
struct Circle final : Shape {
    float radius;
    static constexpr float pi = 3.14159265f;
    __device__ Circle(float r) : Shape(1), radius(r) {}
    __device__ float area() const override { return pi * radius * radius; }
    __device__ ~Circle() override { radius = 0; }
};
struct Diamond : virtual Named { int x = 3; };

__device__ __noinline__ Shape* make(int kind, float size) { return kind & 1 ? static_cast<Shape*>(new Circle(size)) : new Square(size); }

__global__ void dispatch(float* out, int n) {
    Shape* shapes[4];
    for (int i = 0; i < 4; i++) shapes[i] = make(n >> i, i + 1.f);
    for (int i = 0; i < n; i++) out[i] = shapes[i & 3]->area() + shapes[(i + 1) & 3]->corners();
    for (Shape* s : shapes) delete s;
    Square local(n);
    Named* as_named = &local;
    out[n] = as_named->initial();
    Diamond d;
    d.name = "diamond";
    out[n + 1] = d.initial() + d.x;
}

struct Counter {
    int value;
    __device__ Counter& operator++() { ++value; return *this; }
    __device__ int operator()(int x) const { return x + value; }
    __device__ int add(int x) { return value += x; }
    __device__ int sub(int x) { return value -= x; }
};

typedef int (Counter::*Method)(int);
__global__ void members(Counter* c, int* out, bool plus) {
    Method m = plus ? &Counter::add : &Counter::sub;
    out[0] = (c->*m)(5) + (*c)(3);
    ++*c;
    int Counter::*field = &Counter::value;
    out[1] = c->*field;
    auto f = [c, out](int k) { return (*c)(k) * out[2]; };
    auto g = [&](auto... ks) { return (f(ks) + ...); };
    out[3] = g(1, 2, 3);
}

template <typename Derived> struct Base { __device__ int twice(int x) { return static_cast<Derived*>(this)->once(x) * 2; } };
struct Curious : Base<Curious> { int k; __device__ int once(int x) { return x + k; } };
__global__ void curious(Curious c, int* out) { out[0] = c.twice(out[1]); }
