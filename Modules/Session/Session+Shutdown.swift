internal import LinnetSerialization
public import LinnetTransport

extension Session {
    /// Ends the session, and returns when its connections and threads have ended. Later requests fail with
    /// ``SessionError/Code/shutDown``, and so do handles that were never resumed.
    ///
    /// A graceful shutdown, the default, lets running requests finish; a suspended handle finishes only once it is resumed. An
    /// immediate one fails them with ``SessionError/Code/shutDown``.
    public func shutdown(_ mode: ShutdownMode = .graceful) async {
        refuseRequests(mode)
        await transport.shutdown(mode)
        hub.latch?.sessionEnded()
    }

    /// Ends the session as ``shutdown(_:)`` does, and returns at once: immediately when its tasks are to be cancelled,
    /// otherwise gracefully. ``successor()`` makes a new session like it.
    public func invalidate(cancellingTasks: Bool) {
        let mode = cancellingTasks ? ShutdownMode.immediate : .graceful
        refuseRequests(mode)
        Task {
            await transport.shutdown(mode)
            hub.latch?.sessionEnded()
        }
    }

    private func refuseRequests(_ mode: ShutdownMode) {
        engine.end()
        for task in registry.tasks where mode == .immediate || !task.hasStarted {
            task.fail(.shutDown(task.originalRequest?.url))
        }
    }
}
