internal import NIOCore

/// One timer a connection: set again when it fires early, not for each request.
struct Watchdog {
    private var armed: (task: Scheduled<Void>, due: NIODeadline)?

    /// Sees to it that `fire` is called at that time, or before.
    mutating func arm<Handler: AnyObject & SendableMetatype>(
        at due: NIODeadline?, on eventLoop: any EventLoop, _ handler: Handler,
        _ fire: @escaping @Sendable (Handler) -> Void
    ) {
        guard let due else { return }
        if let armed {
            guard due < armed.due else { return }
            armed.task.cancel()
        }
        let handler = NIOLoopBound(handler, eventLoop: eventLoop)
        armed = (eventLoop.scheduleTask(deadline: due) { fire(handler.value) }, due)
    }

    /// It has fired.
    mutating func fired() {
        armed = nil
    }

    mutating func stop() {
        armed?.task.cancel()
        armed = nil
    }
}
