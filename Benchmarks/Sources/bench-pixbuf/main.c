// Pictures by hand: threads that each fetch with libcurl's easy interface, and pass what arrives to gdk-pixbuf's loader, which
// scales while it decodes. The arguments are those of the other benchmark programs:
// OPERATION URL CONCURRENCY SECONDS [NAME=VALUE ...]
#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The libraries' own headers need the flags of their pkg-config file, about which SwiftPM warns.
#include "../../../Modules/CGdkPixbuf/declarations.h"
void *g_object_ref(void *object);

static const char *folder;
static int pictures = 200;
static int side = 128;
static int threads = 1;
static GdkPixbuf **kept;  // all of them, as a grid of images does
static atomic_int next;

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

static void reset_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return;
    fputs("5", file);
    fclose(file);
}

// Called before the loader allocates pixels. libjpeg then computes only what the smaller picture needs.
static void on_size(GdkPixbufLoader *loader, int width, int height, void *context) {
    int longer = width > height ? width : height;
    (void)context;
    if (longer <= side) return;
    width = (width * side + longer / 2) / longer;
    height = (height * side + longer / 2) / longer;
    gdk_pixbuf_loader_set_size(loader, width > 1 ? width : 1, height > 1 ? height : 1);
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *loader) {
    GError *error = NULL;
    if (gdk_pixbuf_loader_write(loader, (const unsigned char *)bytes, size * count, &error)) return size * count;
    fail("loader", error ? linnet_error_message(error) : "no reason");
    return 0;
}

static GdkPixbuf *picture(CURL *easy, const char *name) {
    char url[512];
    long status = 0;
    GError *error = NULL;
    GdkPixbufLoader *loader = gdk_pixbuf_loader_new_with_type("jpeg", &error);
    if (!loader) fail("loader", error ? linnet_error_message(error) : "no reason");
    linnet_signal_connect(loader, "size-prepared", (void (*)(void))on_size, NULL, NULL, 0);
    snprintf(url, sizeof url, "%s%s", folder, name);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, loader);
    CURLcode code = curl_easy_perform(easy);
    if (code) fail("transfer", curl_easy_strerror(code));
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) fail(url, "the status is not 200");
    if (!gdk_pixbuf_loader_close(loader, &error)) fail("loader", error ? linnet_error_message(error) : "no reason");
    GdkPixbuf *pixbuf = gdk_pixbuf_loader_get_pixbuf(loader);
    if (!pixbuf) fail(url, "there is no picture");
    g_object_ref(pixbuf);
    g_object_unref(loader);
    int width = gdk_pixbuf_get_width(pixbuf), height = gdk_pixbuf_get_height(pixbuf);
    if ((width > height ? width : height) != side) fail(url, "the picture has the wrong size");
    return pixbuf;
}

static void *work(void *easy) {
    int number;
    while ((number = atomic_fetch_add(&next, 1)) < pictures) {
        char name[16];
        snprintf(name, sizeof name, "%d", number);
        kept[number] = picture(easy, name);
    }
    return NULL;
}

int main(int count, char **words) {
    if (count < 5 || strcmp(words[1], "images")) {
        fprintf(stderr, "usage: bench-pixbuf images URL CONCURRENCY SECONDS [NAME=VALUE ...]\n");
        return 64;
    }
    folder = words[2];
    for (int i = 5; i < count; i++) {
        if (!strncmp(words[i], "pictures=", 9)) pictures = atoi(words[i] + 9);
        if (!strncmp(words[i], "side=", 5)) side = atoi(words[i] + 5);
        if (!strncmp(words[i], "threads=", 8)) threads = atoi(words[i] + 8);
    }
    if (pictures < 1 || threads < 1) fail("arguments", "there are no pictures or threads");
    curl_global_init(CURL_GLOBAL_ALL);
    kept = calloc((size_t)pictures, sizeof *kept);
    pthread_t *workers = calloc((size_t)threads, sizeof *workers);
    CURL **handles = calloc((size_t)threads, sizeof *handles);
    for (int i = 0; i < threads; i++) {
        handles[i] = curl_easy_init();
        curl_easy_setopt(handles[i], CURLOPT_WRITEFUNCTION, on_bytes);
        curl_easy_setopt(handles[i], CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(handles[i], CURLOPT_BUFFERSIZE, 64L * 1024);
    }
    g_object_unref(picture(handles[0], "first"));  // loads the libraries, and opens a connection
    reset_peak();
    long idle = kibibytes("VmRSS");
    double begin = now();
    for (int i = 0; i < threads; i++) pthread_create(&workers[i], NULL, work, handles[i]);
    for (int i = 0; i < threads; i++) pthread_join(workers[i], NULL);
    double rate = (double)pictures / (now() - begin);
    long peak = kibibytes("VmHWM") - idle;
    printf("{\"value\": %f, \"unit\": \"images/s\", \"count\": %d, \"peak\": %ld}\n", rate, pictures, peak > 0 ? peak : 0);
    return 0;
}
