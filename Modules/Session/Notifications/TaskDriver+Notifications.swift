internal import LinnetSerialization
internal import Synchronization

extension TaskDriver {
    /// Posts a notification to the subscribers of ``TaskNotifications``.
    func notify(_ kind: @autoclosure () -> TaskNotification.Kind) {
        TaskNotifications.hub.post(
            TaskNotification(
                taskID: id, taskKind: self.kind, kind: kind(), request: request,
                taskDescription: shared.withLock { $0.taskDescription }))
    }

    /// Returns the completion that is posted for an outcome.
    func completion(_ outcome: Outcome) -> TaskCompletion {
        let serializer = shared.withLock { $0.serializer }
        switch outcome {
        case .failure(let error): return TaskCompletion(error, serializer)
        case .success(let output):
            guard let response = output as? any CompletedResponse else {
                return TaskCompletion(nil, metrics: attemptMetrics)
            }
            return response.completion(kind, serializer)
        }
    }

    /// Adds the task to the session's completion group; called when the task starts.
    func enterGroup() {
        guard let group = hub.group else { return }
        shared.withLock { $0.isCounted = true }
        group.enter()
    }

    func leaveGroup() {
        if shared.withLock({ $0.isCounted }) { hub.leaveGroup() }
    }
}

/// A response with a value of any type.
private protocol CompletedResponse {
    func completion(_ kind: TaskKind, _ serializer: (any ResponseSerializer)?) -> TaskCompletion
}

extension Response: CompletedResponse {
    fileprivate func completion(_ kind: TaskKind, _ serializer: (any ResponseSerializer)?) -> TaskCompletion {
        TaskCompletion(self, kind, serializer)
    }
}
