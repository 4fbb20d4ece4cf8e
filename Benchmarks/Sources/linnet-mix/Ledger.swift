import BenchMemory
import Foundation
import Synchronization

/// A file of lines that processes append, so that a killed server leaves its counts and the client's memory does not
/// grow with them.
final class Ledger: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure("\(path) cannot be opened: error \(errno)") }
    }

    deinit { close(descriptor) }

    /// Appends a line at once.
    func note(_ line: String) {
        let written = (line + "\n").utf8CString.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count - 1) }
        if written <= line.utf8.count { tell("The ledger could not be written: error \(errno)") }
    }

    /// Calls a closure with the words of each line.
    static func read(_ path: String, _ body: ([Substring]) -> Void) {
        guard let file = fopen(path, "r") else { return }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            body(text.dropLast().split(separator: " "))
        }
    }
}
