internal import FoundationEssentials

/// Where a file is or will be: its folder and its name.
struct FilePlace: Sendable, Hashable {
    /// The longest name that the usual file systems take, in bytes.
    private static let longestName = 255

    /// Without a slash at its end, unless it is the root.
    let folder: String
    let name: String

    var path: String { folder == "/" ? "/" + name : folder + "/" + name }

    /// Nil for what cannot be a file's path: an empty one, one that ends in a slash, one with a NUL inside.
    init?(_ path: String) {
        guard !path.utf8.contains(0) else { return nil }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        guard !name.isEmpty, name != ".", name != ".." else { return nil }
        folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    private init(folder: String, name: String) {
        self.folder = folder
        self.name = name
    }

    /// The path of a hidden file in the same folder, whose name no other download has.
    func makePartialPath() -> String {
        let mark = ".linnet-" + String(UInt64.random(in: 0...UInt64.max), radix: 36) + ".part"
        let shortened = Self.prefix(of: name, bytes: Self.longestName - mark.utf8.count - 1)
        return FilePlace(folder: folder, name: "." + shortened + mark).path
    }

    /// The place with a number before the name's extension.
    func numbered(_ number: Int) -> FilePlace {
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        let tail = " (\(number))" + name[dot...]
        let stem = Self.prefix(of: String(name[..<dot]), bytes: Self.longestName - tail.utf8.count)
        return FilePlace(folder: folder, name: stem + tail)
    }

    /// The characters at a text's start that fit into some bytes.
    private static func prefix(of text: String, bytes: Int) -> String {
        var shortened = text
        while shortened.utf8.count > bytes, !shortened.isEmpty { shortened.removeLast() }
        return shortened
    }
}
