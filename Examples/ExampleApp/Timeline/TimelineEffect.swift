/// A part of what the faces show, each with the line of code that makes it. A test compares the lines with the sources.
enum TimelineEffect: CaseIterable {
    case timeline, pictures, download, upload, suspension, cancellation, info, pins, network

    /// The line, which the faces show beside the effect while the user wants to see code.
    var code: String {
        switch self {
        case .timeline: "session.get(Self.path, [\"count\": ParameterValue(count)]).timeout(.seconds(30))"
        case .pictures: "picture.load(ImageRequest(user.avatarImage.url))"
        case .download: "try await download(session.get(attachment.url.absoluteString), to: file)"
        case .upload: "session.post(Self.uploadPath, form: form).task()"
        case .suspension: "isSuspended ? downloads.resume(download) : downloads.pause(download)"
        case .cancellation: "downloads.cancel(download)"
        case .info: "$0.instruments = [requests]"
        case .pins: "try .publicKeyPins(pins, anchors: anchors)"
        case .network: "for await status in statuses { self?.values.network = status }"
        }
    }
}

extension TimelinePanel {
    /// What the panel shows.
    var effect: TimelineEffect {
        switch self {
        case .info: .info
        case .pins: .pins
        case .network: .network
        }
    }
}

extension Transfer {
    /// What the last command has led to.
    var effect: TimelineEffect {
        switch phase {
        case .suspended: .suspension
        case .cancelled: .cancellation
        case .running, .finished, .failed: isUpload ? .upload : .download
        }
    }
}
