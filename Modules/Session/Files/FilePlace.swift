internal import FoundationEssentials

/// The location of a file: its folder and its name.
struct FilePlace: Sendable, Hashable {
    /// The maximum length of a name on common file systems, in bytes.
    private static let longestName = 255

    /// The folder's path, without a trailing slash unless it is the root.
    let folder: String
    let name: String

    var path: String { folder == "/" ? "/" + name : folder + "/" + name }

    /// Returns nil for a path that cannot name a file: an empty path, a path that ends with a slash, `.` or `..`, or a
    /// path that contains a NUL.
    init?(_ path: String) {
        guard !path.utf8.contains(0) else { return nil }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        guard !name.isEmpty, name != ".", name != ".." else { return nil }
        guard let slash else {
            folder = "."
            return
        }
        let end = path.utf8[..<slash].lastIndex { $0 != UInt8(ascii: "/") }
        folder = end.map { String(path[...$0]) } ?? "/"
    }

    private init(folder: String, name: String) {
        self.folder = folder
        self.name = name
    }

    /// Returns the path of a hidden file in the same folder, with a random name.
    func makePartialPath() -> String {
        let mark = ".linnet-" + String(UInt64.random(in: 0...UInt64.max), radix: 36) + ".part"
        let shortened = Self.prefix(of: name, bytes: Self.longestName - mark.utf8.count - 1)
        return FilePlace(folder: folder, name: "." + shortened + mark).path
    }

    /// Returns the location with a number before the name's extension.
    func numbered(_ number: Int) -> FilePlace {
        // A dot at the beginning hides the file, and begins no extension.
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        let tail = " (\(number))" + name[dot...]
        let stem = Self.prefix(of: String(name[..<dot]), bytes: Self.longestName - tail.utf8.count)
        return FilePlace(folder: folder, name: stem + tail)
    }

    /// Returns the longest prefix of a text that has at most this many bytes.
    private static func prefix(of text: String, bytes: Int) -> String {
        var shortened = text
        while shortened.utf8.count > bytes, !shortened.isEmpty { shortened.removeLast() }
        return shortened
    }
}
