/* The wall clock of one process, set wrong by HOLDFAST_SKEW seconds; the monotonic clocks stay as they are.
 *
 * libfaketime shifts the absolute times of clock_nanosleep as well, and Python's time.sleep then fails.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t skew;

__attribute__((constructor)) static void read_skew(void)
{
    const char *told = getenv("HOLDFAST_SKEW");
    skew = told ? atol(told) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    int answer = (int)syscall(SYS_clock_gettime, clock, at);
    if (answer == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        at->tv_sec += skew;
    return answer;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
