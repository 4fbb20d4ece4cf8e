// libcurl: the multi interface with epoll, on one thread. The arguments are those of the other benchmark programs:
// OPERATION URL CONCURRENCY SECONDS [NAME=VALUE ...]
#define _GNU_SOURCE
#include <curl/curl.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct transfer {
    CURL *easy;
    long long received;
    double due;             // when the request had to begin, of an open load
    struct transfer *next;  // in the list of those that do nothing
};

static CURLM *multi;
static int poller;
static double timer = -1;  // the time of libcurl's next timeout, or -1
static const char *url;
static long long expected = 1024;
static const char *anchors;
static long http_version = CURL_HTTP_VERSION_1_1;
static bool is_large;
static bool is_compressed;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static long kibibytes(const char *name) {
    char line[256];
    long value = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (!strncmp(line, name, strlen(name))) sscanf(line + strlen(name) + 1, "%ld", &value);
    }
    if (file) fclose(file);
    return value;
}

static int sockets(void) {
    struct stat status;
    int count = 0;
    for (int descriptor = 0; descriptor < 40000; descriptor++) {
        if (!fstat(descriptor, &status) && S_ISSOCK(status.st_mode)) count++;
    }
    return count;
}

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    struct epoll_event event = {.data.fd = socket};
    (void)easy, (void)context;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(poller, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    epoll_ctl(poller, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    if (!known) curl_multi_assign(multi, socket, &poller);
    return 0;
}

static int on_timer(CURLM *handle, long milliseconds, void *context) {
    (void)handle, (void)context;
    timer = milliseconds < 0 ? -1 : now() + (double)milliseconds / 1e3;
    return 0;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    ((struct transfer *)context)->received += (long long)(size * count);
    return size * count;
}

static void prepare(struct transfer *transfer) {
    CURL *easy = transfer->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, http_version);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, http_version == CURL_HTTP_VERSION_1_1 ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (anchors) curl_easy_setopt(easy, CURLOPT_CAINFO, anchors);
    if (is_compressed) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    if (is_large) curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 512L * 1024);
}

static void start(struct transfer *transfer) {
    transfer->received = 0;
    curl_multi_add_handle(multi, transfer->easy);
}

// Waits for events of the sockets and the timer until a time, and passes them to libcurl.
static void turn_until(double end) {
    struct epoll_event events[256];
    int running;
    double left = (timer >= 0 && timer < end ? timer : end) - now();
    if (left < 0) left = 0;
    struct timespec timeout = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9)};
    int count = epoll_pwait2(poller, events, 256, &timeout, NULL);
    if (count < 0 && errno != EINTR) fail("epoll_pwait2", strerror(errno));
    for (int i = 0; i < count; i++) {
        int mask = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                   (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
        curl_multi_socket_action(multi, events[i].data.fd, mask, &running);
    }
    if (timer >= 0 && now() >= timer) {
        timer = -1;
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
}

static void turn(void) {
    turn_until(now() + 1);
}

// Returns the next completed transfer, or NULL. `why` is empty if it succeeded.
static struct transfer *completed(char *why, size_t size) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        struct transfer *transfer;
        long status = 0, version = 0;
        why[0] = 0;
        if (message->data.result) snprintf(why, size, "%s", curl_easy_strerror(message->data.result));
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(message->easy_handle, CURLINFO_HTTP_VERSION, &version);
        bool is_other_version = (version == CURL_HTTP_VERSION_2_0) != (http_version != CURL_HTTP_VERSION_1_1);
        if (!why[0] && (status != 200 || transfer->received != expected || is_other_version)) {
            snprintf(why, size, "status %ld with %lld bytes, HTTP version %ld", status, transfer->received, version);
        }
        curl_multi_remove_handle(multi, transfer->easy);
        return transfer;
    }
    return NULL;
}

// The same, and fails if the transfer did.
static struct transfer *finished(void) {
    char why[200];
    struct transfer *transfer = completed(why, sizeof why);
    if (transfer && why[0]) fail("response", why);
    return transfer;
}

static void rate(struct transfer *transfers, int concurrency, double seconds) {
    double begin = now() + (seconds / 4 < 0.4 ? seconds / 4 : 0.4), end = begin + seconds, time;
    long count = 0;
    for (int i = 0; i < concurrency; i++) start(&transfers[i]);
    while ((time = now()) < end) {
        struct transfer *transfer;
        turn();
        while ((transfer = finished())) {
            if (time >= begin) count++;
            start(transfer);
        }
    }
    if (!count) fail("rate", "no operation was completed in the given time");
    printf("{\"value\": %f, \"unit\": \"requests/s\", \"count\": %ld}\n", (double)count / seconds, count);
}

static void once(struct transfer *transfer) {
    start(transfer);
    do turn();
    while (!finished());
}

static void throughput(struct transfer *transfer, double seconds) {
    once(transfer);  // opens the connection, and fills the server's caches
    long idle = kibibytes("VmRSS"), count = 0;
    double begin = now();
    do {
        once(transfer);
        count++;
    } while (now() - begin < seconds);
    printf("{\"value\": %f, \"unit\": \"bytes/s\", \"count\": %ld, \"peak\": %ld}\n",
           (double)count * (double)expected / (now() - begin), count, kibibytes("VmHWM") - idle);
}

static void idle(struct transfer *transfers, int concurrency) {
    once(&transfers[0]);
    long before = kibibytes("VmRSS");
    int left = concurrency;
    for (int i = 0; i < concurrency; i++) start(&transfers[i]);
    while (left > 0) {
        turn();
        while (finished()) left--;
    }
    sleep(3);
    int open = sockets();
    if (open < concurrency * 99 / 100) fail("idle", "not all connections are open");
    printf("{\"value\": %f, \"unit\": \"KiB\", \"count\": %d}\n", (double)(kibibytes("VmRSS") - before) / concurrency, open);
}

// A number in 0..<1 of the generator SplitMix64. BenchSupport has the same, so that all clients meet the same instants.
static double uniform(uint64_t *state) {
    uint64_t bits = *state += 0x9E3779B97F4A7C15;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    bits ^= bits >> 31;
    return (double)(bits >> 11) * 0x1p-53;
}

static int compare(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

// In microseconds, by the nearest rank. The latencies are sorted.
static double percentile(double share, const double *latencies, long count) {
    long rank = (long)ceil(share * (double)count);
    return count ? latencies[rank > 1 ? rank - 1 : 0] * 1e6 : 0;
}

// Measures latencies under an open load, as BenchSupport's measureLatencies does. The requests that wait are queued here:
// with many of them in its own queue, libcurl would search that queue for each transfer that ends.
static void latency(struct transfer *transfers, int concurrency, double seconds, double rate) {
    double unrecorded = seconds / 4 < 1 ? seconds / 4 : 1, instant = 0;
    long count = (long)(rate * (seconds + unrecorded)), next = 0, left = count, errors = 0, recorded = 0;
    double *instants = malloc((size_t)count * sizeof *instants);
    double *latencies = malloc((size_t)count * sizeof *latencies);
    uint64_t state = 1;
    for (long i = 0; i < count; i++) instants[i] = instant += -log(1 - uniform(&state)) / rate;
    // The default lets the thread sleep up to 50 microseconds longer.
    prctl(PR_SET_TIMERSLACK, 1L);
    struct transfer *unused = NULL, *transfer;
    for (int i = 0; i < concurrency; i++) start(&transfers[i]);
    for (int open = 0; open < concurrency;) {
        turn();
        while ((transfer = finished())) {
            transfer->next = unused;
            unused = transfer;
            open++;
        }
    }
    double begin = now() + 0.01;
    while (left > 0) {
        for (double time = now(); unused && next < count && begin + instants[next] <= time; next++) {
            transfer = unused;
            unused = transfer->next;
            transfer->due = instants[next];
            start(transfer);
        }
        turn_until(unused && next < count ? begin + instants[next] : now() + 1);
        char why[200];
        while ((transfer = completed(why, sizeof why))) {
            if (why[0]) errors++;
            if (transfer->due >= unrecorded) latencies[recorded++] = now() - begin - transfer->due;
            transfer->next = unused;
            unused = transfer;
            left--;
        }
    }
    double achieved = (double)count / (now() - begin);
    qsort(latencies, (size_t)recorded, sizeof *latencies, compare);
    printf("{\"value\": %f, \"unit\": \"requests/s\", \"count\": %ld, \"errors\": %ld, ", achieved, count, errors);
    printf("\"p50\": %f, \"p99\": %f, \"p99.9\": %f}\n", percentile(0.5, latencies, recorded),
           percentile(0.99, latencies, recorded), percentile(0.999, latencies, recorded));
}

int main(int count, char **words) {
    if (count < 5) {
        fprintf(stderr, "usage: bench-libcurl OPERATION URL CONCURRENCY SECONDS [NAME=VALUE ...]\n");
        return 64;
    }
    const char *operation = words[1];
    int concurrency = atoi(words[3]);
    double seconds = atof(words[4]), per_second = 1000;
    url = words[2];
    for (int i = 5; i < count; i++) {
        if (!strncmp(words[i], "bytes=", 6)) expected = atoll(words[i] + 6);
        if (!strncmp(words[i], "ca=", 3)) anchors = words[i] + 3;
        if (!strncmp(words[i], "rate=", 5)) per_second = atof(words[i] + 5);
        if (!strcmp(words[i], "compressed")) is_compressed = true;
        if (!strcmp(words[i], "http=2")) http_version = CURL_HTTP_VERSION_2TLS;
    }
    is_large = !strcmp(operation, "body");
    curl_global_init(CURL_GLOBAL_ALL);
    multi = curl_multi_init();
    poller = epoll_create1(EPOLL_CLOEXEC);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)concurrency);
    struct transfer *transfers = calloc((size_t)concurrency, sizeof *transfers);
    for (int i = 0; i < concurrency; i++) prepare(&transfers[i]);
    if (!strcmp(operation, "get")) {
        rate(transfers, concurrency, seconds);
    } else if (!strcmp(operation, "body")) {
        throughput(&transfers[0], seconds);
    } else if (!strcmp(operation, "latency")) {
        latency(transfers, concurrency, seconds, per_second);
    } else if (!strcmp(operation, "idle")) {
        idle(transfers, concurrency);
    } else {
        fail("no such operation", operation);
    }
    return 0;
}
