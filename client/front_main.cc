#include "client/front.h"

int main(int argc, char** argv) { return sous::client::run_front({argv + 1, argv + argc}); }
