import FoundationEssentials

/// A folder for one test's files.
struct Folder {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-pins-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    /// Writes a file, and returns its path.
    func write(_ name: String, _ text: String) throws -> String {
        let file = path + "/" + name
        try Data(text.utf8).write(to: URL(filePath: file))
        return file
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
