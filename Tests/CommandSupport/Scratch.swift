public import FoundationEssentials

/// A folder for one test's files, removed with it.
public struct Scratch: Sendable {
    /// The path of the folder.
    public let path: String

    /// Makes a folder, passes it to a function, and removes it.
    public static func with<Result>(_ use: (Scratch) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-scratch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await use(Scratch(path: folder.path))
    }

    /// The path of a file, which need not exist.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file and returns its path.
    public func write(_ name: String, _ data: Data) throws -> String {
        try data.write(to: URL(filePath: file(name)))
        return file(name)
    }

    /// Writes a file and returns its path.
    public func write(_ name: String, _ text: String) throws -> String { try write(name, Data(text.utf8)) }

    /// Reads a file.
    public func read(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: file(name))) }
}
