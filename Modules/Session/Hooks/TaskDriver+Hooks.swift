internal import Synchronization

extension TaskDriver {
    /// Returns the hooks of the task's request, created on the first call; nil if there are none.
    func requestHooks() -> RequestHooks? {
        guard let request else { return nil }
        return shared.withLock { state in
            if let made = state.requestHooks { return made }
            state.requestHooks = hub.hooks(of: request, state.hooks, kind, id: id)
            return state.requestHooks
        }
    }

    /// Calls the hooks for the end of the request, and releases them.
    func completeHooks(_ error: SessionError?) {
        requestHooks()?.complete(error, shared.withLock { $0.metrics })
        shared.withLock { state in
            state.hooks = nil
            state.requestHooks = nil
        }
    }
}
