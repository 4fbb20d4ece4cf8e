public import FoundationEssentials

extension Certificate {
    /// The endings of file names that ``all(inDirectory:)`` looks at.
    public static let fileExtensions = ["cer", "crt", "der", "pem"]

    /// All certificates of some bytes, in PEM or DER; at least one.
    ///
    /// Fails with ``SecurityError/Code/invalidCertificate``.
    public static func all(data: Data) throws(SecurityError) -> [Certificate] {
        PEM.isPEM(data) ? try all(pem: data) : [try Certificate(der: data)]
    }

    /// All certificates of the files in a folder that end in `.cer`, `.crt`, `.der` or `.pem`, in the order of their names;
    /// those of folders in it are not looked at.
    ///
    /// The certificates of a SwiftPM bundle are found by its path:
    /// `Certificate.all(inDirectory: Bundle.module.bundlePath + "/Pins")`. This module does not take a `Bundle`, since that
    /// would link all of Foundation.
    ///
    /// Fails with ``SecurityError/Code/cannotReadFile``, with ``SecurityError/Code/invalidCertificate`` when one of the files
    /// is none, and with ``SecurityError/Code/noPins`` when there is no such file.
    public static func all(inDirectory path: String) throws(SecurityError) -> [Certificate] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw SecurityError(.cannotReadFile, "\"\(path.oneLine)\" is no readable directory.")
        }
        let files = names.filter { name in
            fileExtensions.contains { name.lowercased().hasSuffix("." + $0) }
        }
        guard !files.isEmpty else {
            throw SecurityError(.noPins, "\"\(path.oneLine)\" has no file that ends in .cer, .crt, .der or .pem.")
        }
        var all: [Certificate] = []
        for file in files.sorted() { all += try named(path + "/" + file) }
        return all
    }

    /// An error says which of the files it is about.
    private static func named(_ path: String) throws(SecurityError) -> [Certificate] {
        do {
            return try all(contentsOfFile: path)
        } catch {
            guard error.code == .invalidCertificate else { throw error }
            throw SecurityError(error.code, "\"\(path.oneLine)\": \(error.message)")
        }
    }
}
