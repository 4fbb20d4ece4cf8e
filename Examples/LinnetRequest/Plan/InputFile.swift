import ExampleSupport
import FoundationEssentials

/// Files on the command line that are read before the request.
enum InputFile {
    /// Reads a file, or standard input for `-`.
    static func read(_ path: String) throws -> Data {
        do {
            return path == "-" ? try StandardInput.readAll() : try Data(contentsOf: URL(filePath: path))
        } catch {
            throw UsageError((path == "-" ? "Standard input" : "\"\(path)\"") + " cannot be read.")
        }
    }
}
