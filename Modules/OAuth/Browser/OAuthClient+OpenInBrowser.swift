public import FoundationEssentials
internal import LinnetMessages

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension OAuthClient {
    /// Opens a page in the user's browser, with `xdg-open`. Does not wait for the browser.
    ///
    /// - Throws: An ``OAuthError`` with ``OAuthError/Code/browserUnavailable`` if `xdg-open` is not installed or cannot
    ///   be started. If it fails later, for example because there is no browser, there is no error: print the address,
    ///   too.
    public static func openInBrowser(_ url: URL) async throws(OAuthError) {
        guard Origin(url.absoluteString) != nil else {
            throw OAuthError(.invalidConfiguration, "A browser opens http and https URLs, and this is neither.")
        }
        let status: Int32
        do {
            status = try await onFileThreads { try startBrowser(url.absoluteString) }
        } catch {
            throw OAuthError(openingBrowser: error)
        }
        guard status == 0 else {
            throw OAuthError(.browserUnavailable, "The browser could not be opened: xdg-open is not installed.")
        }
    }

    /// The shell ends at once, and leaves a browser that neither the terminal's signals nor our end reaches.
    private static let script = """
        command -v xdg-open >/dev/null 2>&1 || exit 127
        xdg-open "$1" </dev/null >/dev/null 2>&1 &
        """

    /// Starts the program, and returns the status of the shell. Blocks for the time of the shell.
    private static func startBrowser(_ url: String) throws(OAuthError) -> Int32 {
        // A process inherits the blocked signals of the thread. Without a process group of its own, it would get the
        // signals of the terminal, too, such as SIGTSTP for Ctrl-Z.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        let command: [String] = ["sh", "-c", script, "sh", url]
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process = pid_t()
        let code = posix_spawn(&process, "/bin/sh", nil, &attributes, &arguments, environ)
        guard code == 0 else {
            throw OAuthError(
                .browserUnavailable, "The browser could not be opened: \(String(cString: strerror(code))).")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            // A program that ignores SIGCHLD reaps its children itself.
            guard errno == EINTR else { return 0 }
        }
        return status
    }
}
