public import LinnetSerialization

/// Which request a hook is called for.
public struct HookContext: Sendable {
    /// The request's number, as ``TaskEvent/taskID`` and a handle's `id` have it.
    public let taskID: UInt64
    /// What the request is made for.
    public let kind: TaskKind
    /// The request as it was given to the session.
    public let request: Request
}
