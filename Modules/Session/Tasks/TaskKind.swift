/// The kind of a task.
public struct TaskKind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// A request whose response is read into memory.
    public static let data = TaskKind("data")
    /// A request that uploads its body.
    public static let upload = TaskKind("upload")
    /// A request whose response is written to a file.
    public static let download = TaskKind("download")
    /// A request whose response is read as it arrives.
    public static let stream = TaskKind("stream")
}
