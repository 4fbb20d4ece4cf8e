import Foundation

/// Lets operations begin, or holds them while the resources are measured.
actor Gate {
    private var isOpen = true
    private var active: [Int: String] = [:]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var closing: CheckedContinuation<Void, Never>?

    /// Begins an operation of a worker, which waits while the gate is closed.
    func enter(_ worker: Int) async {
        while !isOpen { await withCheckedContinuation { waiting.append($0) } }
        active[worker] = "worker \(worker)"
    }

    /// Says what the operation of a worker is, once it is known.
    func describe(_ worker: Int, _ what: String) { active[worker] = what }

    func leave(_ worker: Int) {
        active[worker] = nil
        guard active.isEmpty else { return }
        closing?.resume()
        closing = nil
    }

    /// Holds the workers, and returns when no operation runs.
    func close() async {
        isOpen = false
        if !active.isEmpty { await withCheckedContinuation { closing = $0 } }
    }

    func open() {
        isOpen = true
        let workers = waiting
        waiting = []
        for worker in workers { worker.resume() }
    }

    /// The operations that run.
    var running: [String] { active.values.sorted() }
}
