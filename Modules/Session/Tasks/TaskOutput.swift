internal import LinnetSerialization
internal import Synchronization

/// The response of one task, which its driver does not know: it is not generic, since generic code costs several times
/// as much in a module that uses it.
final class TaskOutput<Value: Sendable>: AnyTaskOutput {
    private let response = Mutex<SessionResponse<Value>?>(nil)

    func set(_ response: SessionResponse<Value>) {
        self.response.withLock { $0 = response }
    }

    /// The response or the error of a task that has ended.
    func result(_ outcome: TaskDriver.Outcome) -> Result<SessionResponse<Value>, SessionError> {
        switch outcome {
        case .failure(let error): .failure(error)
        // A task succeeds after its response was set.
        case .success: response.withLock { $0 }.map { .success($0) } ?? .failure(.cancelled(nil))
        }
    }

    func discard() {
        let discarded = response.withLock { $0.take() }
        // Released after unlocking, since its value is the program's.
        withExtendedLifetime(discarded) {}
    }

    func completion(_ kind: TaskKind, _ serializer: (any ResponseSerializer)?) -> TaskCompletion? {
        response.withLock { $0 }.map { TaskCompletion($0, kind, serializer) }
    }
}

/// The response of one task, of any type.
protocol AnyTaskOutput: AnyObject, Sendable {
    /// Releases the response of a task that was cancelled nevertheless.
    func discard()
    /// The completion to post for the response; nil before it arrives.
    func completion(_ kind: TaskKind, _ serializer: (any ResponseSerializer)?) -> TaskCompletion?
}
