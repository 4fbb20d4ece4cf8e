#define _GNU_SOURCE
#include "CSoak.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

extern char **environ;

int spawn_with_pipes(char *const words[], pid_t *pid, int *input, int *output) {
    int inputs[2], outputs[2];
    if (pipe2(inputs, O_CLOEXEC) != 0) return errno;
    if (pipe2(outputs, O_CLOEXEC) != 0) {
        int error = errno;
        close(inputs[0]);
        close(inputs[1]);
        return error;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, inputs[0], 0);
    posix_spawn_file_actions_adddup2(&actions, outputs[1], 1);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    int error = posix_spawnp(pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(inputs[0]);
    close(outputs[1]);
    if (error != 0) {
        close(inputs[1]);
        close(outputs[0]);
        return error;
    }
    *input = inputs[1];
    *output = outputs[0];
    return 0;
}
