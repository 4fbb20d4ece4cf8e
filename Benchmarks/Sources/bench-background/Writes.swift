import BenchSupport
import Foundation
import Glibc
import Synchronization

/// The bound of the disk: files that come from memory, and are synchronized as those of a download. A hidden file is
/// written, synchronized and renamed, and then its folder is synchronized.
enum Writes {
    static func run(_ arguments: Arguments, to folder: URL) async throws -> Outcome {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (count, bytes) = (arguments.number("files", 10_000), [UInt8](repeating: 7, count: arguments.bytes))
        let work = Work(folder: folder.path, count: count, bytes: bytes)
        let begin = now()
        await withTaskGroup { group in
            for _ in 0..<arguments.concurrency { group.addTask { await work.onThread() } }
        }
        let seconds = now() - begin
        guard work.failures.load(ordering: .relaxed) == 0 else { throw Failure("a file could not be written") }
        return Outcome(Double(count) / seconds, "files/s", count: count)
    }

    private final class Work: Sendable {
        let folder: String
        let count: Int
        let bytes: [UInt8]
        let next = Atomic(0)
        let failures = Atomic(0)

        init(folder: String, count: Int, bytes: [UInt8]) {
            (self.folder, self.count, self.bytes) = (folder, count, bytes)
        }

        /// Writes files on a thread of its own, which can wait for the disk.
        func onThread() async {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    self.write()
                    continuation.resume()
                }
            }
        }

        private func write() {
            let directory = open(folder, O_RDONLY | O_DIRECTORY)
            defer { close(directory) }
            while true {
                let number = next.add(1, ordering: .relaxed).oldValue
                guard number < count else { return }
                let (part, file) = ("\(folder)/.\(number)", "\(folder)/\(number)")
                let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL, 0o666)
                let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                guard written == bytes.count, fsync(descriptor) == 0, close(descriptor) == 0, rename(part, file) == 0,
                    fsync(directory) == 0
                else {
                    failures.add(1, ordering: .relaxed)
                    return
                }
            }
        }
    }
}
