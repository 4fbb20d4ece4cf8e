/// What a task is made for.
public struct TaskKind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// A request, whose response ends up in memory.
    public static let data = TaskKind("data")
    /// A request that is about what it sends.
    public static let upload = TaskKind("upload")
    /// A request whose response becomes a file.
    public static let download = TaskKind("download")
    /// A request whose response is read as it comes.
    public static let stream = TaskKind("stream")
}
