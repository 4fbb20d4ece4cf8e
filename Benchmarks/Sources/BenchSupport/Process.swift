import Glibc

/// Figures of the kernel about this process.
package enum ProcessStatus {
    /// A row of /proc/self/status in kibibytes, such as VmRSS or VmHWM.
    package static func kibibytes(_ name: String) -> Int {
        for line in text("/proc/self/status").split(separator: "\n") where line.hasPrefix(name + ":") {
            return Int(String(line.filter { $0 >= "0" && $0 <= "9" })) ?? 0
        }
        return 0
    }

    /// The number of open sockets.
    package static func sockets() -> Int {
        (0..<40_000).reduce(0) { count, descriptor in
            var status = stat()
            return fstat(Int32(descriptor), &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK ? count + 1 : count
        }
    }

    /// Resets VmHWM to the current resident memory, if the kernel allows it.
    package static func resetPeak() {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

/// The time of a monotonic clock in seconds.
@inline(__always)
package func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The size of a file; -1 when it does not exist.
package func fileSize(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : -1
}

/// Removes a file if it exists.
package func removeFile(_ path: String) { unlink(path) }
