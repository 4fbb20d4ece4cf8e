public import Foundation  // URL
internal import LinnetMessages
internal import LinnetSession
public import LinnetUIState
internal import Synchronization

// The names of AFNetworking's UIKit categories for images, for the states of LinnetUIState.

/// The downloader that image states share.
private let sharedDownloader = Mutex<AFImageDownloader?>(nil)

extension ImageState where Image == UIImage {
    /// Sets the downloader of the states and buttons that are created later.
    public nonisolated static func setSharedImageDownloader(_ imageDownloader: AFImageDownloader) {
        sharedDownloader.replace(\.self, with: imageDownloader)
    }

    /// The downloader of the states that are created; the default is ``AFImageDownloader/defaultInstance()``.
    public nonisolated static func sharedImageDownloader() -> AFImageDownloader {
        sharedDownloader.withLock { $0 } ?? .defaultInstance()
    }

    /// Creates a state without an image, which loads images by the shared downloader.
    ///
    /// - Throws: `SessionError` if the session of its manager cannot be made.
    public convenience init() throws { self.init(try Self.sharedImageDownloader().downloader) }

    /// UIImageView, setImageWithURL:
    public func setImageWith(_ url: URL) { setImageWith(url, placeholderImage: nil) }

    /// UIImageView, setImageWithURL:placeholderImage:
    ///
    /// Shows the image in the place of the former one, and the placeholder until it arrives.
    public func setImageWith(_ url: URL, placeholderImage: UIImage?) {
        // The downloader accepts images alone.
        setImageWith(URLRequest(url: url), placeholderImage: placeholderImage)
    }

    /// UIImageView, setImageWithURLRequest:placeholderImage:success:failure:
    ///
    /// The state shows the image before `success` is called; AFNetworking leaves that to the block. A block is called
    /// at most once on the main actor, and not for an image that was cancelled or replaced by another. The response is
    /// nil.
    public func setImageWith(
        _ urlRequest: URLRequest, placeholderImage: UIImage?,
        success: (@MainActor (URLRequest, HTTPURLResponse?, UIImage) -> Void)? = nil,
        failure: (@MainActor (URLRequest, HTTPURLResponse?, any Error) -> Void)? = nil
    ) {
        guard let request = ImageRequest(urlRequest) else {
            load(nil, placeholder: placeholderImage)
            failure?(urlRequest, nil, NSError.badURL(urlRequest.url?.absoluteString ?? ""))
            return
        }
        load(request, placeholder: placeholderImage)
        guard success != nil || failure != nil else { return }
        Task { [weak self, statuses] in
            for await status in statuses {
                guard let self, self.request?.url == request.url else { return }
                switch status.phase {
                case .loaded: if let image = status.image { success?(urlRequest, nil, image) }
                case .failed(let error): failure?(urlRequest, nil, error.nsError)
                case .idle, .loading: continue
                }
                return
            }
        }
    }

    /// UIImageView, cancelImageDownloadTask
    public func cancelImageDownloadTask() { cancel() }
}

extension ButtonImageState where Image == UIImage {
    /// Creates a button without images, which loads them by the shared downloader of ``ImageState``.
    ///
    /// - Throws: `SessionError` if the session of its manager cannot be made.
    public convenience init() throws { self.init(try ImageState<UIImage>.sharedImageDownloader().downloader) }

    /// UIButton, setImageForState:withURL: and setImageForState:withURL:placeholderImage:
    public func setImageFor(_ state: ControlState, with url: URL, placeholderImage: UIImage? = nil) {
        image(for: state).setImageWith(url, placeholderImage: placeholderImage)
    }

    /// UIButton, setImageForState:withURLRequest:placeholderImage:success:failure:
    public func setImageFor(
        _ state: ControlState, with urlRequest: URLRequest, placeholderImage: UIImage?,
        success: (@MainActor (URLRequest, HTTPURLResponse?, UIImage) -> Void)? = nil,
        failure: (@MainActor (URLRequest, HTTPURLResponse?, any Error) -> Void)? = nil
    ) {
        image(for: state).setImageWith(
            urlRequest, placeholderImage: placeholderImage, success: success, failure: failure)
    }

    /// UIButton, setBackgroundImageForState:withURL: and setBackgroundImageForState:withURL:placeholderImage:
    public func setBackgroundImageFor(_ state: ControlState, with url: URL, placeholderImage: UIImage? = nil) {
        background(for: state).setImageWith(url, placeholderImage: placeholderImage)
    }

    /// UIButton, setBackgroundImageForState:withURLRequest:placeholderImage:success:failure:
    public func setBackgroundImageFor(
        _ state: ControlState, with urlRequest: URLRequest, placeholderImage: UIImage?,
        success: (@MainActor (URLRequest, HTTPURLResponse?, UIImage) -> Void)? = nil,
        failure: (@MainActor (URLRequest, HTTPURLResponse?, any Error) -> Void)? = nil
    ) {
        background(for: state).setImageWith(
            urlRequest, placeholderImage: placeholderImage, success: success, failure: failure)
    }

    /// UIButton, cancelImageDownloadTaskForState:
    public func cancelImageDownloadTask(for state: ControlState) { image(for: state).cancel() }

    /// UIButton, cancelBackgroundImageDownloadTaskForState:
    public func cancelBackgroundImageDownloadTask(for state: ControlState) { background(for: state).cancel() }
}
