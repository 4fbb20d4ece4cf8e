internal import LinnetSerialization
internal import Synchronization

extension TaskDriver {
    /// Tells the process of a change.
    func notify(_ kind: @autoclosure () -> TaskNotification.Kind) {
        TaskNotifications.hub.post(
            TaskNotification(
                taskID: id, taskKind: self.kind, kind: kind(), request: request,
                taskDescription: shared.withLock { $0.taskDescription }))
    }

    /// What the process is told of the end.
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

    /// From its first start on, the task counts in the session's group.
    func enterGroup() {
        guard let group = hub.group else { return }
        shared.withLock { $0.isCounted = true }
        group.enter()
    }

    func leaveGroup() {
        if shared.withLock({ $0.isCounted }) { hub.leaveGroup() }
    }
}

/// A response of whatever value.
private protocol CompletedResponse {
    func completion(_ kind: TaskKind, _ serializer: (any ResponseSerializer)?) -> TaskCompletion
}

extension Response: CompletedResponse {
    fileprivate func completion(_ kind: TaskKind, _ serializer: (any ResponseSerializer)?) -> TaskCompletion {
        TaskCompletion(self, kind, serializer)
    }
}
