internal import Synchronization

extension TaskDriver {
    /// The hooks of the task's request, made when they are first asked for; nil when there are none.
    func requestHooks() -> RequestHooks? {
        guard let request else { return nil }
        return shared.withLock { state in
            if let made = state.requestHooks { return made }
            state.requestHooks = hub.hooks(of: request, state.hooks, kind, id: id)
            return state.requestHooks
        }
    }

    /// Tells the hooks of the end, and lets go of them and all that they hold.
    func completeHooks(_ error: SessionError?) {
        requestHooks()?.complete(error, shared.withLock { $0.metrics })
        shared.withLock { state in
            state.hooks = nil
            state.requestHooks = nil
        }
    }
}
