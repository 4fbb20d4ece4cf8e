import FoundationEssentials

/// A folder for one test, removed with it.
struct ScratchFolder {
    let url: URL

    /// The names of all its items, including hidden files.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? [] }

    subscript(name: String) -> URL { url.appending(path: name) }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: self[name])
    }

    func text(of name: String) throws -> String {
        String(decoding: try Data(contentsOf: self[name]), as: UTF8.self)
    }
}

func withScratchFolder<Result>(_ perform: (ScratchFolder) async throws -> Result) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "linnet-files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await perform(ScratchFolder(url: url))
}

/// Bytes that look random and are the same each time.
func makeBytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed
    var data = Data(capacity: count)
    while data.count < count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        withUnsafeBytes(of: state.byteSwapped) { data.append(contentsOf: $0.prefix(count - data.count)) }
    }
    return data
}
