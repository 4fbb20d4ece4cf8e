import Foundation
import Linnet
import Synchronization

/// What a worker remembers from one operation to the next.
final class Worker: Sendable {
    let index: Int
    /// The folder of its files.
    let folder: URL
    /// The values that its cookie may have, for each lane; an operation that failed may have set it or not.
    private let cookies = Mutex<[Lane.Name: Set<String>]>([:])

    init(_ index: Int, in folder: URL) {
        self.index = index
        self.folder = folder
    }

    func cookies(on lane: Lane.Name) -> Set<String> { cookies.withLock { $0[lane] ?? ["-"] } }

    func mayHave(_ cookie: String, on lane: Lane.Name) {
        _ = cookies.withLock { $0[lane, default: ["-"]].insert(cookie) }
    }

    func has(_ cookie: String, on lane: Lane.Name) { cookies.withLock { $0[lane] = [cookie] } }

    func file(_ name: String) -> URL { folder.appending(path: "\(index)-\(name)") }
}
