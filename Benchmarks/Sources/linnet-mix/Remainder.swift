import BenchMemory
import Foundation

/// Names what is left after the last shutdown.
struct Remainder {
    private let descriptors = Descriptor.all()
    /// The folder of the workers' files.
    let folder: URL

    /// Waits for sockets and threads to end, and blocks its thread meanwhile, as ``Watch/measure(_:done:)``. Returns
    /// the descriptors that were not open in the beginning, the threads if they are more than expected, and the files.
    func left(threads expected: Int) -> [String] {
        var left: [String] = []
        for _ in 0..<150 {
            left = Descriptor.opened(since: descriptors).map { "descriptor \($0) is left" }
            let threads = Threads.all().values.sorted()
            if threads.count > expected {
                left.append("\(threads.count - expected) threads are left among \(threads.joined(separator: ", "))")
            }
            if left.isEmpty { break }
            usleep(100_000)
        }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        if !files.isEmpty { left.append("\(files.count) files are left: \(files.sorted().prefix(5))") }
        return left
    }
}
