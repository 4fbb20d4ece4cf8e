internal import LinnetSession

/// Follows one task at a time on the main actor, without retaining it.
@MainActor
final class TaskFollower {
    private var listener: Task<Void, Never>?

    isolated deinit {
        listener?.cancel()
    }

    /// Calls a function with each element of a sequence, until the function returns false. Replaces the previous
    /// sequence.
    func follow<Element: Sendable>(
        _ sequence: EventSequence<Element>?, _ receive: @escaping @MainActor (Element) -> Bool
    ) {
        listener?.cancel()
        listener = sequence.map { sequence in
            Task {
                for await element in sequence {
                    guard !Task.isCancelled, receive(element) else { return }
                }
            }
        }
    }
}

extension TaskState {
    /// Whether a task in this state is busy: it runs, or stops after its cancellation.
    var isBusy: Bool { self == .running || self == .cancelling }
}
