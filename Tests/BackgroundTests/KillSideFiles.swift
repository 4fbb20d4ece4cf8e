import FoundationEssentials
import LinnetBackground
import LinnetSession

/// The descriptions of the parts of a session's downloads.
struct SideFiles {
    /// The side file of a download in segments, as far as it tells the version of the part.
    private struct Segments: Decodable {
        struct Entity: Decodable {
            let entityTag: String?
        }

        struct Beginning: Decodable {}

        let entity: Entity
        let part: String
        /// Without it, the part cannot be continued.
        let beginning: Beginning?
    }

    let folder: URL

    /// The entity tag with which the server has sent the bytes of a task's part; nil if there is no part that could be
    /// continued.
    func entityTag(of task: BackgroundTask) -> String? {
        if let data = try? Data(contentsOf: folder.appending(path: "\(task.id).segments")),
            let side = try? JSONDecoder().decode(Segments.self, from: data), side.beginning != nil,
            FileManager.default.fileExists(atPath: side.part)
        {
            return side.entity.entityTag
        }
        let file = folder.appending(path: "\(task.id).resume")
        guard let data = try? ResumeData(contentsOf: file),
            FileManager.default.fileExists(atPath: data.partialFile.path)
        else { return nil }
        return data.entityTag
    }
}
