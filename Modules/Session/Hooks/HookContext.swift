public import LinnetSerialization

/// The request for which a hook is called.
public struct HookContext: Sendable {
    /// The request's ID, equal to ``TaskEvent/taskID`` and to a handle's `id`.
    public let taskID: UInt64
    /// The kind of request.
    public let kind: TaskKind
    /// The request as it was passed to the session.
    public let request: Request
}
