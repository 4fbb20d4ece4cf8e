public import LinnetSerialization

/// The request that a hook is called for.
public struct HookContext: Sendable {
    /// The request's ID, equal to ``TaskEvent/taskID`` and a handle's `id`.
    public let taskID: UInt64
    /// The kind of request.
    public let kind: TaskKind
    /// The request as it was given to the session.
    public let request: Request
}
