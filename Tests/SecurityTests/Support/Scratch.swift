import FoundationEssentials

/// A folder for one test's files, removed with it.
struct Scratch {
    let path: String

    static func with<Result>(_ use: (Scratch) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-security-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await use(Scratch(path: folder.path))
    }

    /// The path of a file, which need not exist.
    func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file and returns its path.
    func write(_ name: String, _ data: Data) throws -> String {
        try data.write(to: URL(filePath: file(name)))
        return file(name)
    }

    func write(_ name: String, _ text: String) throws -> String { try write(name, Data(text.utf8)) }

    func read(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: file(name))) }
}
