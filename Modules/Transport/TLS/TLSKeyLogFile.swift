internal import FoundationEssentials

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The file to which the keys of connections are added, a line for each.
final class TLSKeyLogFile: Sendable {
    private let descriptor: Int32

    /// Opens the file, and says so on standard error; nil where the environment names none.
    ///
    /// A log that cannot be written is ``TransportError/Code/invalidConfiguration``.
    static func open(_ log: TLSKeyLog) throws(TransportError) -> TLSKeyLogFile? {
        switch log.place {
        case .file(let path): return try TLSKeyLogFile(path)
        case .environment:
            let path = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"] ?? ""
            return path.isEmpty ? nil : try TLSKeyLogFile(path)
        }
    }

    private init(_ path: String) throws(TransportError) {
        descriptor = Self.openFile(path)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw TransportError(.invalidConfiguration, "The key log \"\(path)\" cannot be written: \(reason).")
        }
        Self.write("linnet: warning: TLS keys are written to \(path); whoever reads it reads what is sent.", to: 2)
    }

    deinit {
        close(descriptor)
    }

    /// Adds a line. Connections of several event loops may do so at once: a write to the end of a file is one step.
    func write(_ line: String) {
        Self.write(line, to: descriptor)
    }

    private static func openFile(_ path: String) -> Int32 {
        #if canImport(Glibc)
        Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #elseif canImport(Musl)
        Musl.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #else
        Darwin.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        #endif
    }

    private static func write(_ line: String, to descriptor: Int32) {
        let bytes = Array((line + "\n").utf8)
        #if canImport(Glibc)
        _ = Glibc.write(descriptor, bytes, bytes.count)
        #elseif canImport(Musl)
        _ = Musl.write(descriptor, bytes, bytes.count)
        #else
        _ = Darwin.write(descriptor, bytes, bytes.count)
        #endif
    }
}
