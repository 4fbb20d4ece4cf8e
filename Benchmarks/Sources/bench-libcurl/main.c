// libcurl: the multi interface with epoll, on one thread. The arguments are those of the other benchmark programs:
// OPERATION URL CONCURRENCY SECONDS [NAME=VALUE ...]
#define _GNU_SOURCE
#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct transfer {
    CURL *easy;
    long long received;
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

// Waits for events of the sockets and the timer, and passes them to libcurl.
static void turn(void) {
    struct epoll_event events[256];
    int running, milliseconds = 1000;
    if (timer >= 0) {
        double left = (timer - now()) * 1e3;
        milliseconds = left <= 0 ? 0 : (int)left + 1;
    }
    int count = epoll_wait(poller, events, 256, milliseconds);
    if (count < 0 && errno != EINTR) fail("epoll_wait", strerror(errno));
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

// Returns the next completed transfer after checking it, or NULL.
static struct transfer *finished(void) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        struct transfer *transfer;
        long status = 0, version = 0;
        char text[80];
        if (message->data.result) fail("transfer", curl_easy_strerror(message->data.result));
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(message->easy_handle, CURLINFO_HTTP_VERSION, &version);
        snprintf(text, sizeof text, "status %ld with %lld bytes, HTTP version %ld", status, transfer->received, version);
        if (status != 200 || transfer->received != expected) fail("response", text);
        if ((version == CURL_HTTP_VERSION_2_0) != (http_version != CURL_HTTP_VERSION_1_1)) fail("response", text);
        curl_multi_remove_handle(multi, transfer->easy);
        return transfer;
    }
    return NULL;
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

int main(int count, char **words) {
    if (count < 5) {
        fprintf(stderr, "usage: bench-libcurl OPERATION URL CONCURRENCY SECONDS [NAME=VALUE ...]\n");
        return 64;
    }
    const char *operation = words[1];
    int concurrency = atoi(words[3]);
    double seconds = atof(words[4]);
    url = words[2];
    for (int i = 5; i < count; i++) {
        if (!strncmp(words[i], "bytes=", 6)) expected = atoll(words[i] + 6);
        if (!strncmp(words[i], "ca=", 3)) anchors = words[i] + 3;
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
    } else if (!strcmp(operation, "idle")) {
        idle(transfers, concurrency);
    } else {
        fail("no such operation", operation);
    }
    return 0;
}
