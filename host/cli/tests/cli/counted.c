/* Counts the system calls of a command, of all its threads and of all that it starts:
 * `counted NOTES COMMAND ARGUMENT…`. What waits for another thread is not counted, and neither is
 * memory without a file: how often either happens depends on the machine, since each thread that
 * runs at the same time takes a stack and an arena. */

#include <errno.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { OTHER, WAITING, OPENING, READING, WRITING, SYNCING, MAPPING, STARTING, KINDS };

static const char *const NAMES[KINDS] = {
    "other", "waiting", "opened", "read", "written", "synced", "mapped", "started"};

static enum kind kind_of(long long number, const unsigned long long *arguments) {
    switch (number) {
    case SYS_futex:
    case SYS_sched_yield:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_epoll_pwait:
    case SYS_ppoll:
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
    case SYS_poll:
#endif
    case SYS_restart_syscall:
    case SYS_madvise:
    case SYS_munmap:
    case SYS_mprotect:
        return WAITING;
    case SYS_openat:
    case SYS_openat2:
        return OPENING;
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
        return READING;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
        return WRITING;
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_msync:
        return SYNCING;
    case SYS_mmap:
        return arguments[3] & MAP_ANONYMOUS ? WAITING : MAPPING;
    case SYS_clone:
    case SYS_clone3:
        return STARTING;
    default:
        return OTHER;
    }
}

/* What a thread is inside of. */
static struct thread {
    pid_t id;
    enum kind inside;
} threads[256];

static struct thread *thread_of(pid_t id) {
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        if (threads[i].id == id || threads[i].id == 0) {
            threads[i].id = id;
            return &threads[i];
        }
    }
    fputs("too many threads\n", stderr);
    exit(125);
}

int main(int count, char **arguments) {
    unsigned long long calls[KINDS] = {0}, bytes[KINDS] = {0};
    int status, code = 125;
    if (count < 3) {
        return 125;
    }
    pid_t first = fork();
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execvp(arguments[2], arguments + 2);
        _exit(127);
    }
    if (first < 0 || waitpid(first, &status, 0) != first || !WIFSTOPPED(status)) {
        return 125;
    }
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, first, 0, options) != 0) {
        perror("ptrace");
        return 125;
    }
    ptrace(PTRACE_SYSCALL, first, 0, 0);
    for (;;) {
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR) {
            continue;
        }
        if (id < 0) {
            break;
        }
        struct thread *thread = thread_of(id);
        if (!WIFSTOPPED(status)) {
            if (id == first) {
                code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            }
            continue;
        }
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info info;
            long got = ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info);
            if (got > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY) {
                thread->inside = kind_of(
                    (long long)info.entry.nr, (const unsigned long long *)info.entry.args);
                calls[thread->inside]++;
            } else if (got > 0 && info.op == PTRACE_SYSCALL_INFO_EXIT && info.exit.rval > 0) {
                bytes[thread->inside] += (unsigned long long)info.exit.rval;
            }
            signal = 0;
        } else if (signal == SIGTRAP || signal == SIGSTOP) {
            /* An event, or the beginning of a thread. */
            signal = 0;
        }
        ptrace(PTRACE_SYSCALL, id, 0, signal);
    }
    FILE *notes = fopen(arguments[1], "w");
    if (notes == NULL) {
        return 125;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        if (kind != WAITING) {
            fprintf(notes, "%s %llu\n", NAMES[kind], calls[kind]);
        }
    }
    fprintf(notes, "bytes-read %llu\nbytes-written %llu\n", bytes[READING], bytes[WRITING]);
    return fclose(notes) == 0 ? code : 125;
}
