/* A board without an operating system: Arm's MPS2+ with a Cortex-M4 (AN386; QEMU: mps2-an386).
 * Messages come and leave over UART 0, each behind its length in two bytes, low byte first; a noise
 * source hangs on UART 1; the clock is SysTick. What it keeps lies in memory that a reset does not
 * clear: on a chip of your own that is its flash. */
#include "board.h"
#include <string.h>

#ifndef BOARD_NAME
#define BOARD_NAME "north"
#endif
#define BYTES_MAX 1024u
#define KEPT_MAX 2048u
#define CLOCK_HZ 25000000u
#define TICK_US 10000u

/* The CMSDK UART. */
struct uart {
    volatile uint32_t data;
    volatile uint32_t state; /* bit 0: there is no room to write; bit 1: there is a byte to read */
    volatile uint32_t control; /* bits 0, 1: it writes, it reads */
    volatile uint32_t interrupts;
    volatile uint32_t divider;
};

static struct uart *const line = (struct uart *)0x40004000u;
static struct uart *const noise = (struct uart *)0x40005000u;
static volatile uint32_t *const tick_control = (volatile uint32_t *)0xe000e010u;
static volatile uint32_t *const tick_reload = (volatile uint32_t *)0xe000e014u;
static volatile uint32_t tick_count;

static struct {
    uint32_t mark;
    uint32_t size;
    uint64_t bytes[KEPT_MAX / 8];
} kept __attribute__((section(".kept")));
#define KEPT_MARK 0x7ac17u

_Noreturn void tacit_panic(const char *file, int number, const char *what)
{
    (void)file;
    (void)number;
    (void)what;
    for (;;)
        __asm__ volatile("bkpt #0");
}

static uint8_t read_byte(struct uart *uart)
{
    while ((uart->state & 2u) == 0)
        ;
    return (uint8_t)uart->data;
}

static void write_byte(uint8_t byte)
{
    while ((line->state & 1u) != 0)
        ;
    line->data = byte;
}

const char *board_name(void)
{
    return BOARD_NAME;
}

/* To a tick: the core only needs to know when to say something again. */
uint64_t board_now_us(void)
{
    return (uint64_t)tick_count * TICK_US;
}

enum tacit_status board_entropy(void *context, void *bytes, size_t size)
{
    uint8_t *const into = bytes;
    (void)context;
    for (size_t i = 0; i < size; i++)
        into[i] = read_byte(noise);
    return TACIT_OK;
}

/* Where your device does what the arm stands for. Here the second arm earns most. */
double board_pull(uint32_t arm)
{
    static const uint8_t shares[] = {26, 230, 51}; /* of 256 */
    uint8_t chance;
    (void)board_entropy(NULL, &chance, 1);
    return chance < shares[arm % sizeof shares] ? 1 : 0;
}

void board_keep(const void *bytes, size_t size)
{
    TACIT_ASSERT(size <= sizeof kept.bytes);
    kept.mark = 0; /* until it is whole */
    memcpy(kept.bytes, bytes, size);
    kept.size = (uint32_t)size;
    kept.mark = KEPT_MARK;
}

size_t board_kept(void *bytes, size_t size_max)
{
    if (kept.mark != KEPT_MARK || kept.size > size_max)
        return 0;
    memcpy(bytes, kept.bytes, kept.size);
    return kept.size;
}

void board_say(const uint8_t *bytes, size_t size)
{
    write_byte((uint8_t)size);
    write_byte((uint8_t)(size >> 8));
    for (size_t i = 0; i < size; i++)
        write_byte(bytes[i]);
}

static void hear(void)
{
    static uint8_t bytes[BYTES_MAX];
    size_t const low = read_byte(line);
    size_t const size = low | (size_t)read_byte(line) << 8;
    for (size_t i = 0; i < size; i++) {
        uint8_t const byte = read_byte(line);
        bytes[i < sizeof bytes ? i : 0] = byte;
    }
    if (size <= sizeof bytes)
        device_hear(bytes, size);
}

void board_reset(void);
static void on_tick(void)
{
    tick_count++;
}

static void on_fault(void)
{
    tacit_panic("", 0, "");
}

extern uint8_t data_source[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];

__attribute__((section(".vectors"), used)) static const struct {
    uint8_t *stack;
    void (*handlers[15])(void);
} vectors = {stack_top,
             {board_reset, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault,
              on_fault, on_fault, on_fault, on_fault, on_fault, on_fault, on_tick}};

void board_reset(void)
{
    memcpy(data_begin, data_source, (size_t)(data_end - data_begin));
    memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
    line->divider = noise->divider = 16;
    line->control = noise->control = 3;
    *tick_reload = CLOCK_HZ / (1000000u / TICK_US) - 1;
    *tick_control = 7;
    for (;;) {
        if ((line->state & 2u) != 0)
            hear();
        (void)device_work();
    }
}
