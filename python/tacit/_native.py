"""The C library: its declarations, as include/tacit/select.h and vector.h have them, and its statuses."""
from pathlib import Path
from typing import Any

import cffi

from ._errors import StateError

ffi: Any = cffi.FFI()
ffi.cdef("""
struct tacit_select_budget {
    int kind; uint32_t participations; double total; double eta; const double *given; bool is_exact; uint8_t spare[7];
};
struct tacit_select_config {
    uint32_t user_count; uint32_t users_per_round; double alpha; double beta; double gamma; double zeta;
    double latency_min; struct tacit_select_budget budget;
};
struct tacit_select;
struct tacit_select_view {
    uint64_t round_count; const uint32_t *counts; const double *means; const uint64_t *sizes;
};
struct tacit_select_scores { double *ucb; double *generalization; double *privacy; double *weight; };
struct tacit_select_annealing {
    bool is_vanilla; bool sign_as_printed; bool keep_last; bool keep_walk; uint32_t iterations; double kappa;
};
struct tacit_select_choice {
    int selector; struct tacit_select_annealing annealing; const double *expected; const uint64_t *available;
};
struct tacit_select_explanation {
    double energy; double latency_term; double generalization_term; double privacy_term; uint32_t slowest;
    bool has_runner_up; double runner_up_energy; uint32_t runner_up_leaves; uint32_t runner_up_comes;
};
size_t tacit_select_size(const struct tacit_select_config *config);
int tacit_select_init(struct tacit_select *select, const struct tacit_select_config *config, const uint64_t *sizes);
int tacit_select_check(const struct tacit_select *select, size_t size, const struct tacit_select_config *config);
void tacit_select_view(const struct tacit_select *select, struct tacit_select_view *view);
double tacit_select_spent(const struct tacit_select *select, uint32_t user);
uint64_t tacit_select_spent_nano(const struct tacit_select *select, uint32_t user);
void tacit_select_score(const struct tacit_select *select, const struct tacit_select_scores *scores);
size_t tacit_select_scratch_size(uint32_t user_count);
double tacit_select_best(const double *ucb, const double *weight, uint32_t user_count, uint32_t m, void *scratch,
                         uint32_t *users);
size_t tacit_select_choice_size(uint32_t user_count);
int tacit_select_observe(struct tacit_select *select, const uint32_t *users, uint32_t count, const double *latencies,
                         double latency_max);
int tacit_select_observe_reported(struct tacit_select *select, const uint32_t *users, uint32_t count,
                                  const double *latencies, double latency_max, const uint64_t *spent_nano);
void tacit_select_explain(const struct tacit_select *select, const uint32_t *users, uint32_t count, void *scratch,
                          struct tacit_select_explanation *explanation);
void tacit_vector_quantise(const double *h, uint32_t dimension, double clip, int64_t *steps);
int tacit_python_noise(int64_t *steps, uint32_t dimension, uint64_t epsilon_nano);
int tacit_python_choose(const struct tacit_select *select, const struct tacit_select_choice *choice, uint64_t seed,
                        void *scratch, uint32_t *users, uint32_t *count, double *energy);
size_t tacit_python_sizes(size_t index);
const char *tacit_status_text(int status);
""")
lib: Any = ffi.dlopen(str(Path(__file__).with_name("tacit_native.so")))

INVALID, MALFORMED, BUDGET, ENTROPY = -1, -2, -5, -6

for _index, _name in enumerate(("budget", "config", "view", "scores", "annealing", "choice", "explanation")):
    if lib.tacit_python_sizes(_index) != ffi.sizeof(f"struct tacit_select_{_name}"):
        raise ImportError(f"tacit: the library's struct tacit_select_{_name} is another one than this package's")


def require(status: int, what: str) -> None:
    """Turns a status of the library into an exception."""
    if status == 0:
        return
    text = f"{what}: {ffi.string(lib.tacit_status_text(status)).decode()}"
    if status == INVALID:
        raise ValueError(text)
    if status in (MALFORMED, BUDGET):
        raise StateError(text)
    if status == ENTROPY:
        raise OSError(text)
    raise RuntimeError(text)


def pointer(words: str, array: Any) -> Any:
    """The memory of a numpy array that has the right type and is in one piece."""
    return ffi.cast(words, array.ctypes.data)
