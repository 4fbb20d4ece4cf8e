/// What a task is made for.
public struct TaskKind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// A request, whose response ends up in memory.
    public static let data = TaskKind("data")
    /// A response that becomes a file.
    public static let download = TaskKind("download")
    /// A response that is read as it comes.
    public static let stream = TaskKind("stream")
    /// A request that is about what it sends.
    public static let upload = TaskKind("upload")
}
