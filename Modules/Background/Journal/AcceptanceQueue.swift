internal import Synchronization

/// Adds tasks to the journal. Tasks that are added while a transaction is written share the next one, because each is
/// synchronized to the disk, which takes as long for one task as for hundreds.
actor AcceptanceQueue {
    private typealias Waiter = CheckedContinuation<Result<TaskRecord, BackgroundError>, Never>

    /// The largest number of tasks in a transaction.
    private static let most = 1000

    private let journal: Journal
    private var waiting: [(definition: TransferDefinition, waiter: Waiter)] = []
    private var isWriting = false

    init(_ journal: Journal) { self.journal = journal }

    /// Adds a task. It survives a power failure when the function returns.
    func accept(_ definition: TransferDefinition) async throws(BackgroundError) -> TaskRecord {
        let result = await withCheckedContinuation { waiter in
            waiting.append((definition, waiter))
            guard !isWriting else { return }
            isWriting = true
            Task { await self.write() }
        }
        return try result.get()
    }

    private func write() async {
        while !waiting.isEmpty {
            let batch = Array(waiting.prefix(Self.most))
            waiting.removeFirst(batch.count)
            do throws(BackgroundError) {
                let results = try await journal.accept(batch.map(\.definition))
                for (entry, result) in zip(batch, results) { entry.waiter.resume(returning: result) }
            } catch {
                for entry in batch { entry.waiter.resume(returning: .failure(error)) }
            }
        }
        isWriting = false
    }
}
