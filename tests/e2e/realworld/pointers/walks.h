/* Each walks through its arrays in its own way; what it returns or writes shows where it ended. */
#define WALKS(f)                                                                                             \
  f(copy) f(pairs) f(image) f(final_pointer) f(header) f(both_arms) f(downwards) f(by_three) f(row_pointers) \
      f(restart) f(prefix) f(rest) f(skip) f(bounds_of_final) f(used_after) f(unsigned_step) f(two_of_one)   \
          f(sometimes) f(nested_count) f(triangular) f(declared) f(read_ahead) f(empty_then) f(clamped) f(chained)
#define DECLARE(name) long name(int n, int m, const int* s, int* d);
WALKS(DECLARE)
