//! Partial uploads: a step that changes few states sends only the changed ones and their places. The GPU writes them among those it
//! holds.
//!
//! May not: judge whether the changes are few. The maker of the states says so ([`Since`]).

use super::shaders;
use memory_city_views::city::PlotState;
use std::sync::Arc;

/// Differences of some records from an earlier version.
#[derive(Clone, Debug)]
pub struct Since {
    /// The version of those before.
    pub version: u64,
    /// The changed boxes; each once.
    pub boxes: Arc<[u32]>,
}

/// Changes are few, and are passed on, when there is at most one in so many boxes.
pub const FEW: usize = 16;
/// Changes are sent alone to a graphics card when there is at most one in so many boxes: a bus lies between. A processor draws from the
/// memory that holds them, and one change costs as much as thirty in a row.
const FEW_ENOUGH: usize = 8;
const FEW_FOR_A_PROCESSOR: usize = 32;

/// Records that a column of the GPU holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    pub version: u64,
    pub since: Option<Since>,
}

impl Held {
    /// The records that differ in `new`, if these are held; `None` if that is unknown. `between` are the states of a step from the one to
    /// the other, if there is one.
    pub fn changed(&self, new: &Held, between: Option<&Held>) -> Option<Vec<u32>> {
        match between.filter(|between| ![self.version, new.version].contains(&between.version)) {
            None => self.beside(new).map(<[u32]>::to_vec),
            Some(between) => {
                let (first, then) = (self.beside(between)?, between.beside(new)?);
                Some([first, then].concat())
            }
        }
    }

    /// The records in which two versions differ, one made of the other.
    fn beside<'a>(&'a self, other: &'a Held) -> Option<&'a [u32]> {
        [(other, self), (self, other)].into_iter().find_map(|(one, before)| {
            let since = one.since.as_ref().filter(|since| since.version == before.version)?;
            Some(&*since.boxes)
        })
    }
}

/// Sends a few states to the GPU.
pub(super) struct Patcher {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    /// Changes are sent alone when there is at most one in so many states.
    few: usize,
    most_bytes: u64,
    most_at_once: u32,
}

/// As in `patch.wgsl`.
const GROUP: u32 = 64;

impl Patcher {
    /// `None` if the GPU cannot compute.
    pub fn new(device: &wgpu::Device) -> Option<Patcher> {
        let limits = device.limits();
        let can = limits.max_compute_workgroup_size_x >= GROUP
            && limits.max_compute_invocations_per_workgroup >= GROUP
            && limits.max_storage_buffers_per_shader_stage >= 2;
        if !can {
            return None;
        }
        let entry = |binding: u32, read_only: bool| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("patch"),
            entries: &[entry(0, true), entry(1, false)],
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("patch"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("patch"),
            layout: Some(&pipeline_layout),
            module: &shaders::patch(device),
            entry_point: Some("patch_states"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let few = match device.adapter_info().device_type {
            wgpu::DeviceType::Cpu => FEW_FOR_A_PROCESSOR,
            _ => FEW_ENOUGH,
        };
        let (most_bytes, most_at_once) =
            (limits.max_storage_buffer_binding_size, limits.max_compute_workgroups_per_dimension);
        Some(Patcher { pipeline, layout, few, most_bytes, most_at_once })
    }

    /// Whether so many states of a column can be sent alone, at a lower cost.
    pub fn takes(&self, changed: usize, states: usize) -> bool {
        let few = changed.saturating_mul(self.few) <= states;
        let groups = (changed as u64).div_ceil(u64::from(GROUP));
        few && groups <= u64::from(self.most_at_once)
            && (states as u64) * size_of::<PlotState>() as u64 <= self.most_bytes
    }

    /// Puts the states at these places into a buffer of all of them, before anything that is submitted after.
    pub fn patch(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        buffer: &wgpu::Buffer,
        states: &[PlotState],
        changed: &[u32],
    ) {
        use wgpu::util::DeviceExt as _;
        let there = changed.iter().filter(|&&at| (at as usize) < states.len());
        let mut words: Vec<u32> = Vec::with_capacity(3 * changed.len());
        for &at in there {
            let [low, high]: [u32; 2] = bytemuck::cast(states[at as usize]);
            words.extend([at, low, high]);
        }
        if words.is_empty() {
            return;
        }
        let sent = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("changed states"),
            contents: bytemuck::cast_slice(&words),
            usage: wgpu::BufferUsages::STORAGE,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("patch"),
            layout: &self.layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: sent.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: buffer.as_entire_binding() },
            ],
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("patch") });
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups((words.len() as u32 / 3).div_ceil(GROUP), 1, 1);
        }
        queue.submit([encoder.finish()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::scene::Versioned;

    /// Four times, each made of the one before it; then one that was made anew.
    fn times() -> Vec<Versioned<PlotState>> {
        let mut records = vec![PlotState::default(); 64];
        let mut all = vec![Versioned::new(records.clone())];
        for at in [3usize, 40, 3] {
            records[at].height += 1;
            let before = all.last().expect("one");
            all.push(Versioned::changed(records.clone(), before, vec![at as u32]));
        }
        all.push(Versioned::new(records));
        all
    }

    #[test]
    fn what_differs_is_known_from_step_to_step_in_both_directions() {
        let times = times();
        let changed = |held: usize, new: usize, between: Option<usize>| {
            let between = between.map(|at| times[at].held());
            times[held].held().changed(&times[new].held(), between.as_ref())
        };
        for (held, new, between, expected) in [
            (0, 1, None, Some(vec![3])),
            (2, 1, None, Some(vec![40])),
            (0, 2, None, None),
            (0, 2, Some(1), Some(vec![3, 40])),
            (3, 1, Some(2), Some(vec![3, 40])),
            (1, 1, Some(2), Some(vec![40, 40])),
            (1, 2, Some(1), Some(vec![40])),
            (1, 2, Some(2), Some(vec![40])),
            (0, 3, Some(1), None),
            (3, 4, None, None),
        ] {
            assert_eq!(changed(held, new, between), expected, "{held} to {new} by {between:?}");
        }
        // Many are no few, and others than before cannot be told where there are more.
        let [first, ..] = &times[..] else { unreachable!() };
        assert!(Versioned::changed(vec![PlotState::default(); 64], first, (0..5).collect()).since.is_none());
        assert!(Versioned::changed(vec![PlotState::default(); 65], first, vec![64]).since.is_none());
    }

    /// The GPU, if only in software, holds the sent states among the ones before.
    #[test]
    fn the_gpu_holds_what_was_sent_among_what_it_had() {
        use wgpu::util::DeviceExt as _;
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::PRIMARY;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = bevy::tasks::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
        let Ok(adapter) = adapter else { panic!("no GPU, not even in software") };
        let (device, queue) =
            bevy::tasks::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default())).expect("a device");
        let patcher = Patcher::new(&device).expect("it computes");
        let state = |i: usize, by: u16| PlotState { side: i as u16, height: by, colour: 7, opacity: u16::MAX };
        let mut states: Vec<PlotState> = (0..1000).map(|i| state(i, 1)).collect();
        let buffer = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(&states),
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        });
        // More than a group of threads takes, one twice, and one that is beyond the end.
        let changed: Vec<u32> = (0..100).map(|i| i * 9).chain([999, 0, 1000]).collect();
        for &at in &changed {
            if let Some(state) = states.get_mut(at as usize) {
                state.height = 2;
            }
        }
        assert!(!patcher.takes(states.len() / 2, states.len()) && patcher.takes(states.len() / 32, states.len()));
        patcher.patch(&device, &queue, &buffer, &states, &changed);
        let back = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&buffer, 0, &back, 0, buffer.size());
        queue.submit([encoder.finish()]);
        back.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.expect("it can be read"));
        device.poll(wgpu::PollType::wait_indefinitely()).expect("it is done");
        let read = back.slice(..).get_mapped_range();
        assert_eq!(bytemuck::cast_slice::<u8, PlotState>(&read), &states[..]);
    }
}
