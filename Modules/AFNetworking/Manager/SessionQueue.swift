internal import Dispatch
internal import Foundation  // OperationQueue
internal import Synchronization

/// The queue of a session: an operation queue, for the blocks of the program, over a serial dispatch queue.
///
/// An operation costs many times a block of the dispatch queue. Until the program has set a block, nothing of its own
/// runs on the queue, and can tell the difference. The order is the same for both.
final class SessionQueue: Sendable {
    /// The queue that the program sees.
    let operations = OperationQueue()
    private let queue = DispatchQueue(label: "linnet.afnetworking.session")
    private let isUsed = Atomic(false)

    init() {
        operations.maxConcurrentOperationCount = 1
        operations.underlyingQueue = queue
    }

    /// The program has set a block, which runs in an operation.
    func use() { isUsed.store(true, ordering: .releasing) }

    /// Runs a function after those before.
    func execute(_ work: @escaping @Sendable () -> Void) {
        if isUsed.load(ordering: .acquiring) { operations.addOperation(work) } else { queue.async(execute: work) }
    }
}
