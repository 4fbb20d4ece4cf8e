internal import Foundation  // OperationQueue

/// The queue of a session: a serial operation queue, for the blocks of the program.
final class SessionQueue: Sendable {
    /// The queue that the program sees.
    let operations = OperationQueue()

    init() { operations.maxConcurrentOperationCount = 1 }

    /// Runs a function after those before.
    func execute(_ work: @escaping @Sendable () -> Void) { operations.addOperation(work) }
}
